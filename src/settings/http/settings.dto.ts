import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Locale, OnClientTimeout, OnLimit, SettingsTree } from '../settings-tree.js';
import { Choice, Count, Days, Hours, Seconds } from './setting-fields.decorator.js';

const MANY = 1_000_000;
const TEN_YEARS = 3_650;
const MAX_RESULT_BYTES = 268_435_456;

@ApiSchema({ name: 'BackgroundCallSettings' })
export class BackgroundCallSettingsDto {
  @Seconds({ isNullable: true })
  autoAfterSec!: number | null;

  @Count(1, MANY)
  maxPerTarget!: number;

  @Hours()
  maxHours!: number;

  @Seconds({ isNullable: true })
  idleTimeoutSec!: number | null;

  @Choice(['wait', 'reject'], 'OnLimit')
  onLimit!: OnLimit;

  @Count(1, MANY, { isNullable: true })
  maxRunning!: number | null;

  @Count(1, MANY, { isNullable: true })
  maxPerAgent!: number | null;
}

@ApiSchema({ name: 'ForegroundSettings' })
export class ForegroundSettingsDto {
  @Seconds()
  timeoutSec!: number;

  @Seconds()
  maxWithProgressSec!: number;

  @Choice(['background', 'cancel'], 'OnClientTimeout')
  onClientTimeout!: OnClientTimeout;
}

@ApiSchema({ name: 'ResultSettings' })
export class ResultSettingsDto {
  @Count(0, MANY)
  inlineChars!: number;

  @Count(1, MAX_RESULT_BYTES)
  maxBytes!: number;
}

@ApiSchema({ name: 'TurnSettings' })
export class TurnSettingsDto {
  @Seconds()
  idleTimeoutSec!: number;
}

@ApiSchema({ name: 'UpstreamSettings' })
export class UpstreamSettingsDto {
  @Seconds()
  idleCloseSec!: number;
}

@ApiSchema({ name: 'DeliverySettings' })
export class DeliverySettingsDto {
  @Seconds()
  visibilitySec!: number;

  @Hours()
  maxAgeHours!: number;
}

@ApiSchema({ name: 'RetentionSettings' })
export class RetentionSettingsDto {
  @Days(TEN_YEARS)
  days!: number;
}

@ApiSchema({ name: 'MessageSettings' })
export class MessageSettingsDto {
  @Choice(['zh-CN', 'en'], 'Locale')
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
