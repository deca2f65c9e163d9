import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { INSTANT } from '../../common/http/instant.property.js';
import { PageDto } from '../../common/http/page.dto.js';
import { toPublicId } from '../../common/ids.js';
import { EVENT_TYPES, type EventType } from '../../events/event-type.js';
import { type Locale, LOCALES } from '../../common/locale.js';
import type { Page } from '../../common/paging.js';
import type { App } from '../app.js';
import type { ChangedApp } from '../app.service.js';
import { DELIVERY_MODES, type DeliveryMode } from '../delivery-mode.js';

@ApiSchema({ name: 'AppDelivery' })
class AppDeliveryDto {
  @ApiProperty({
    enum: DELIVERY_MODES,
    enumName: 'DeliveryMode',
    description: 'Whether the app asks for its messages or they are sent to its URL',
  })
  mode!: DeliveryMode;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'Where webhooks go; kept while the mode is `pull`',
  })
  url!: string | null;

  @ApiProperty({
    type: String,
    required: false,
    description: 'What webhooks are signed with: only in the answer to the request that made it',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  secret?: string;
}

@ApiSchema({ name: 'AppEvents' })
class AppEventsDto {
  @ApiProperty({ type: String, format: 'uri', description: 'Where the events are sent' })
  url!: string;

  @ApiProperty({
    enum: EVENT_TYPES,
    enumName: 'EventType',
    isArray: true,
    nullable: true,
    description: 'Of which types; null: of all',
  })
  types!: EventType[] | null;

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Of calls of which tools, as `<server>/<tool>`; null: all events',
  })
  tools!: string[] | null;

  @ApiProperty({
    type: [String],
    nullable: true,
    description: 'Of calls of which agents; null: all events',
  })
  agents!: string[] | null;
}

@ApiSchema({ name: 'App' })
export class AppDto {
  @ApiProperty({ type: String, example: 'app_01h455vb4pex5vsknk084sn02q' })
  id!: string;

  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({
    enum: LOCALES,
    enumName: 'Locale',
    nullable: true,
    description: 'The language of its messages; null: that of the settings',
  })
  locale!: Locale | null;

  @ApiProperty({ type: AppDeliveryDto })
  delivery!: AppDeliveryDto;

  @ApiProperty({
    type: AppEventsDto,
    nullable: true,
    description: 'Where its events are sent as they happen; null: nowhere',
  })
  events!: AppEventsDto | null;

  @ApiProperty({ ...INSTANT, description: 'When it was registered' })
  createdAt!: string;

  static from({ id, name, locale, delivery, events, createdAt }: App): AppDto {
    const { mode, url } = delivery;
    return {
      id: toPublicId('app', id),
      ...{ name, locale, delivery: { mode, url }, events },
      createdAt: createdAt.toISOString(),
    };
  }

  /** With the secret that the change has made. */
  static fromChange({ app, newSecret }: ChangedApp): AppDto {
    const shown = AppDto.from(app);
    return newSecret === undefined
      ? shown
      : { ...shown, delivery: { ...shown.delivery, secret: newSecret } };
  }
}

@ApiSchema({ name: 'AppPage' })
export class AppPageDto extends PageDto {
  @ApiProperty({ type: [AppDto] })
  data!: AppDto[];

  static from({ data, hasMore, nextCursor }: Page<App>): AppPageDto {
    return { data: data.map((app) => AppDto.from(app)), hasMore, nextCursor };
  }
}
