import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Choice, Count, Days, Hours, Seconds } from '../../common/http/value.decorators.js';
import { type Locale, LOCALES } from '../../common/locale.js';
import {
  ON_CLIENT_TIMEOUT,
  ON_LIMIT,
  type OnClientTimeout,
  type OnLimit,
  type SettingsTree,
} from '../settings-tree.js';

const MANY = 1_000_000;
const TEN_YEARS = 3_650;
const MAX_RESULT_BYTES = 268_435_456;

@ApiSchema({ name: 'BackgroundCallSettings' })
export class BackgroundCallSettingsDto {
  @Seconds('Seconds in the foreground before a call moves; null: it never moves by itself', {
    isNullable: true,
  })
  autoAfterSec!: number | null;

  @Count(1, MANY, 'Running background calls of one session or bot')
  maxPerTarget!: number;

  @Hours('Hours in the background before a call fails with `timeout`')
  maxHours!: number;

  @Seconds('Seconds without progress before a call fails with `idle_timeout`; null: off', {
    isNullable: true,
  })
  idleTimeoutSec!: number | null;

  @Choice(
    ON_LIMIT,
    'OnLimit',
    'What a call does when no slot is free: `wait` stays in the foreground, `reject` is a 429',
  )
  onLimit!: OnLimit;

  @Count(1, MANY, 'Running background calls of all apps; null: no limit', { isNullable: true })
  maxRunning!: number | null;

  @Count(1, MANY, 'Running background calls of one agent of an app; null: no limit', {
    isNullable: true,
  })
  maxPerAgent!: number | null;
}

@ApiSchema({ name: 'ForegroundSettings' })
export class ForegroundSettingsDto {
  @Seconds('Seconds without an answer or progress before a foreground call fails')
  timeoutSec!: number;

  @Seconds('Seconds in all before a foreground call fails, however much progress arrives')
  maxWithProgressSec!: number;

  @Choice(
    ON_CLIENT_TIMEOUT,
    'OnClientTimeout',
    'What becomes of a call that named its turn and whose caller closed the connection',
  )
  onClientTimeout!: OnClientTimeout;
}

@ApiSchema({ name: 'ResultSettings' })
export class ResultSettingsDto {
  @Count(0, MANY, 'Characters (UTF-16 units) of a result that are shown and told')
  inlineChars!: number;

  @Count(
    1,
    MAX_RESULT_BYTES,
    'Bytes that a result may have; more is not received, and the call ends as `output_limit`',
  )
  maxBytes!: number;
}

@ApiSchema({ name: 'TurnSettings' })
export class TurnSettingsDto {
  @Seconds('Seconds without a sign of life before a turn is taken as ended')
  idleTimeoutSec!: number;
}

@ApiSchema({ name: 'UpstreamSettings' })
export class UpstreamSettingsDto {
  @Seconds('Seconds that a connection without calls stays open')
  idleCloseSec!: number;
}

@ApiSchema({ name: 'DeliverySettings' })
export class DeliverySettingsDto {
  @Seconds('Seconds after which a message that nobody acknowledged comes again')
  visibilitySec!: number;

  @Hours('Hours for which a webhook that fails is tried again before its message is a dead letter')
  maxAgeHours!: number;
}

@ApiSchema({ name: 'RetentionSettings' })
export class RetentionSettingsDto {
  @Days(
    TEN_YEARS,
    'Days that an ended call is kept, with its result, files and message, once it was told; events as long',
  )
  days!: number;
}

@ApiSchema({ name: 'MessageSettings' })
export class MessageSettingsDto {
  @Choice(LOCALES, 'Locale', 'The language of messages to apps that have none of their own')
  locale!: Locale;
}

/** The whole tree of runtime settings. */
@ApiSchema({ name: 'Settings' })
export class SettingsDto implements SettingsTree {
  @ApiProperty({ type: BackgroundCallSettingsDto })
  backgroundCalls!: BackgroundCallSettingsDto;

  @ApiProperty({ type: ForegroundSettingsDto })
  foreground!: ForegroundSettingsDto;

  @ApiProperty({ type: ResultSettingsDto })
  results!: ResultSettingsDto;

  @ApiProperty({ type: TurnSettingsDto })
  turns!: TurnSettingsDto;

  @ApiProperty({ type: UpstreamSettingsDto })
  upstreams!: UpstreamSettingsDto;

  @ApiProperty({ type: DeliverySettingsDto })
  delivery!: DeliverySettingsDto;

  @ApiProperty({ type: RetentionSettingsDto })
  retention!: RetentionSettingsDto;

  @ApiProperty({ type: MessageSettingsDto })
  messages!: MessageSettingsDto;
}
