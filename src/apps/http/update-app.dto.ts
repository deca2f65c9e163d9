import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsIn, ValidateBy, ValidateIf } from 'class-validator';
import { isEngineId } from '../../common/engine-id.js';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsHttpUrl, MAX_URL_CHARS } from '../../common/http/is-http-url.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';
import { Choice } from '../../common/http/value.decorators.js';
import { type Locale, LOCALES } from '../../common/locale.js';
import { EVENT_TYPES, type EventType } from '../../events/event-type.js';
import type { AppEvents } from '../app.js';
import type { AppPatch } from '../app.service.js';
import { DELIVERY_MODES, type DeliveryMode } from '../delivery-mode.js';

const MOST_IN_FILTER = 100;
/** A server name is a slug. */
const TOOL_NAME = /^[a-z0-9-]{1,64}\/.{1,256}$/su;

@ApiSchema({ name: 'AppDeliveryPatch' })
class UpdateAppDeliveryDto {
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

@ApiSchema({ name: 'AppEventsChange' })
class UpdateAppEventsDto {
  @ApiProperty({
    type: String,
    format: 'uri',
    maxLength: MAX_URL_CHARS,
    description: 'Where the events are sent',
    example: 'https://engine.example.com/events',
  })
  @IsHttpUrl()
  url!: string;

  @ApiProperty({
    enum: EVENT_TYPES,
    enumName: 'EventType',
    isArray: true,
    required: false,
    nullable: true,
    minItems: 1,
    description: 'Of which types; null or left out: of all',
  })
  @IsFilter(`of: ${EVENT_TYPES.join(', ')}`, (value) => EVENT_TYPES.includes(value as EventType))
  types?: EventType[] | null;

  @ApiProperty({
    type: [String],
    required: false,
    nullable: true,
    minItems: 1,
    maxItems: MOST_IN_FILTER,
    description: 'Of calls of which tools, as `<server>/<tool>`; null or left out: all events',
    example: ['research/crawl'],
  })
  @IsFilter('of texts <server>/<tool>', isToolName)
  tools?: string[] | null;

  @ApiProperty({
    type: [String],
    required: false,
    nullable: true,
    minItems: 1,
    maxItems: MOST_IN_FILTER,
    description: 'Of calls of which agents; null or left out: all events',
  })
  @IsFilter('of ids of agents', isEngineId)
  agents?: string[] | null;

  toEvents(): AppEvents {
    const { url, types = null, tools = null, agents = null } = this;
    return { url, types, tools, agents };
  }
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

  @ApiProperty({
    type: UpdateAppEventsDto,
    required: false,
    nullable: true,
    description: 'Takes the place of what there is as a whole; null: no events are sent any more',
  })
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @Nested(() => UpdateAppEventsDto)
  events?: UpdateAppEventsDto | null;

  toPatch(): AppPatch {
    const { locale, delivery, events } = this;
    return {
      locale,
      mode: delivery?.mode,
      url: delivery?.url,
      events: events && events.toEvents(),
    };
  }
}

function isToolName(value: unknown): boolean {
  return typeof value === 'string' && TOOL_NAME.test(value);
}

/** A list of at least one, each of which passes; or null, or nothing. */
function IsFilter(what: string, isValid: (value: unknown) => boolean): PropertyDecorator {
  const isList = (list: unknown): boolean =>
    Array.isArray(list) && list.length >= 1 && list.length <= MOST_IN_FILTER && list.every(isValid);
  return ValidateBy({
    name: 'filter',
    validator: {
      validate: (value) => value === undefined || value === null || isList(value),
      defaultMessage: () => `$property must be null or a list of 1 to ${MOST_IN_FILTER} ${what}`,
    },
  });
}
