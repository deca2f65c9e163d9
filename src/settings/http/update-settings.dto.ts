import { ApiSchema, PartialType } from '@nestjs/swagger';
import type { SettingsPatch } from '../settings-patch.js';
import { SettingGroup } from './setting-group.decorator.js';
import {
  BackgroundCallSettingsDto,
  DeliverySettingsDto,
  ForegroundSettingsDto,
  MessageSettingsDto,
  ResultSettingsDto,
  RetentionSettingsDto,
  TurnSettingsDto,
  UpstreamSettingsDto,
} from './settings.dto.js';

/** A field may be left out; null is for the field's own rule to judge. */
const LEFT_OUT_OR_VALID = { skipNullProperties: false };

class BackgroundCallSettingsPatch extends PartialType(
  BackgroundCallSettingsDto,
  LEFT_OUT_OR_VALID,
) {}
class ForegroundSettingsPatch extends PartialType(ForegroundSettingsDto, LEFT_OUT_OR_VALID) {}
class ResultSettingsPatch extends PartialType(ResultSettingsDto, LEFT_OUT_OR_VALID) {}
class TurnSettingsPatch extends PartialType(TurnSettingsDto, LEFT_OUT_OR_VALID) {}
class UpstreamSettingsPatch extends PartialType(UpstreamSettingsDto, LEFT_OUT_OR_VALID) {}
class DeliverySettingsPatch extends PartialType(DeliverySettingsDto, LEFT_OUT_OR_VALID) {}
class RetentionSettingsPatch extends PartialType(RetentionSettingsDto, LEFT_OUT_OR_VALID) {}
class MessageSettingsPatch extends PartialType(MessageSettingsDto, LEFT_OUT_OR_VALID) {}

/** What is to change: any part of the tree. */
@ApiSchema({ name: 'SettingsPatch' })
export class UpdateSettingsDto implements SettingsPatch {
  @SettingGroup(() => BackgroundCallSettingsPatch)
  backgroundCalls?: BackgroundCallSettingsPatch;

  @SettingGroup(() => ForegroundSettingsPatch)
  foreground?: ForegroundSettingsPatch;

  @SettingGroup(() => ResultSettingsPatch)
  results?: ResultSettingsPatch;

  @SettingGroup(() => TurnSettingsPatch)
  turns?: TurnSettingsPatch;

  @SettingGroup(() => UpstreamSettingsPatch)
  upstreams?: UpstreamSettingsPatch;

  @SettingGroup(() => DeliverySettingsPatch)
  delivery?: DeliverySettingsPatch;

  @SettingGroup(() => RetentionSettingsPatch)
  retention?: RetentionSettingsPatch;

  @SettingGroup(() => MessageSettingsPatch)
  messages?: MessageSettingsPatch;
}
