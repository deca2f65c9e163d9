import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsHttpUrl, MAX_URL_CHARS } from '../../common/http/is-http-url.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';
import { Choice } from '../../common/http/value.decorators.js';
import { type Locale, LOCALES } from '../../common/locale.js';
import type { AppPatch } from '../app.service.js';
import { DELIVERY_MODES, type DeliveryMode } from '../delivery-mode.js';

@ApiSchema({ name: 'AppDeliveryPatch' })
export class UpdateAppDeliveryDto {
  @Choice(DELIVERY_MODES, 'DeliveryMode', 'From the next message that is handed out', {
    isOptional: true,
  })
  mode?: DeliveryMode;

  @ApiProperty({
    type: String,
    format: 'uri',
    maxLength: MAX_URL_CHARS,
    nullable: true,
    required: false,
    description: 'Where webhooks go; null takes it away, in the mode `pull` only',
    example: 'https://engine.example.com/background-calls',
  })
  @IfGiven()
  @IsHttpUrl({ isNullable: true })
  url?: string | null;
}

@ApiSchema({ name: 'AppPatch' })
export class UpdateAppDto {
  @ApiProperty({
    enum: LOCALES,
    enumName: 'Locale',
    nullable: true,
    required: false,
    description: 'The language of its messages; null: that of the settings',
  })
  @IfGiven()
  @IsIn([...LOCALES, null], { message: `$property must be one of: ${LOCALES.join(', ')}, or null` })
  locale?: Locale | null;

  @ApiProperty({ type: UpdateAppDeliveryDto, required: false })
  @IfGiven()
  @Nested(() => UpdateAppDeliveryDto)
  delivery?: UpdateAppDeliveryDto;

  toPatch(): AppPatch {
    return { locale: this.locale, mode: this.delivery?.mode, url: this.delivery?.url };
  }
}
