import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { InvalidRequestError } from '../../common/domain-error.js';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { INSTANT } from '../../common/http/instant.property.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';
import { IsInstant, toInstant } from '../../common/http/is-instant.decorator.js';
import { PageQuery } from '../../common/http/page.query.js';
import { Several } from '../../common/http/several.decorator.js';
import { fromPublicId } from '../../common/ids.js';
import type { MessageFilter, TargetFilter } from '../administration/message-list.repository.js';
import { MESSAGE_KINDS, type MessageKind } from '../message-kind.js';
import { MESSAGE_STATES, type MessageState } from '../message-state.js';

const ENGINE_ID = { type: String, required: false } as const;

/** The filters of the list of messages. */
export class MessageQuery extends PageQuery {
  @ApiProperty({
    enum: MESSAGE_STATES,
    enumName: 'MessageState',
    isArray: true,
    required: false,
    description: 'Repeated or comma-separated',
  })
  @IfGiven()
  @Several()
  @IsIn(MESSAGE_STATES, { each: true })
  state?: MessageState[];

  @ApiProperty({ enum: MESSAGE_KINDS, enumName: 'MessageKind', isArray: true, required: false })
  @IfGiven()
  @Several()
  @IsIn(MESSAGE_KINDS, { each: true })
  kind?: MessageKind[];

  @ApiProperty({ type: [String], required: false, description: 'Names or ids of apps' })
  @IfGiven()
  @Several()
  @Matches(/^[^\0]{1,128}$/, { each: true, message: '$property must be names or ids of apps' })
  app?: string[];

  @ApiProperty(ENGINE_ID)
  @IfGiven()
  @IsEngineId()
  sessionId?: string;

  @ApiProperty({ ...ENGINE_ID, description: 'All bots of the team, or one of them' })
  @IfGiven()
  @IsEngineId()
  teamId?: string;

  @ApiProperty({ ...ENGINE_ID, description: 'With `teamId` alone' })
  @IfGiven()
  @IsEngineId()
  botId?: string;

  @ApiProperty({
    type: String,
    required: false,
    description: 'The background call of which it tells',
  })
  @IfGiven()
  @Matches(/^bgc_[0-7][0-9a-hjkmnp-tv-z]{25}$/, {
    message: '$property must be the id of a background call',
  })
  callId?: string;

  @ApiProperty({
    ...INSTANT,
    required: false,
    description: 'Made then or later',
  })
  @IfGiven()
  @IsInstant()
  since?: string;

  @ApiProperty({ ...INSTANT, required: false, description: 'Made before' })
  @IfGiven()
  @IsInstant()
  until?: string;

  /**
   * @param appIds the apps that `app` names; all apps where it is left out
   * @throws InvalidRequestError when the ids name no session, bot or team together.
   */
  toFilter(appIds: string[]): MessageFilter {
    const target = this.toTarget(appIds);
    return {
      ...(this.app && { appIds }),
      ...(target && { target }),
      ...(this.state && { states: [...new Set(this.state)] }),
      ...(this.kind && { kinds: this.kind }),
      ...(this.callId !== undefined && { callId: fromPublicId('bgc', this.callId) }),
      ...(this.since !== undefined && { since: toInstant(this.since) }),
      ...(this.until !== undefined && { until: toInstant(this.until) }),
    };
  }

  private toTarget(appIds: string[]): TargetFilter | undefined {
    const { sessionId, teamId, botId } = this;
    if (sessionId !== undefined) {
      if (teamId !== undefined) throw wrong('?teamId', 'must be left out with sessionId');
      if (botId !== undefined) throw wrong('?botId', 'must be left out with sessionId');
      return { appIds, sessionId };
    }
    if (teamId !== undefined) return { appIds, teamId, ...(botId !== undefined && { botId }) };
    if (botId !== undefined) throw wrong('?botId', 'needs the teamId beside it');
    return undefined;
  }
}

function wrong(pointer: string, detail: string): InvalidRequestError {
  return new InvalidRequestError([{ pointer, detail }]);
}
