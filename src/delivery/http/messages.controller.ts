import { Body, Controller, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { CallerGone } from '../../common/http/caller-gone.decorator.js';
import { EngineIdPipe } from '../../common/http/engine-id.pipe.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import { WaitQuery } from '../../common/http/wait.query.js';
import { Acknowledgements } from '../acknowledgements.js';
import type { DeliveryScope } from '../pull/delivery-scope.js';
import { MessageInbox } from '../pull/message-inbox.js';
import { AcknowledgeMessageDto } from './acknowledge-message.dto.js';
import { AcknowledgedMessageDto } from './acknowledged-message.dto.js';
import { MessagesDto } from './message.dto.js';

const JSON_TYPE = 'application/json; charset=utf-8';

const HAND_OUT =
  'Nothing is handed out while a turn of the session runs. Calls that ended meanwhile come as one ' +
  'message, oldest first. A message that is not acknowledged within `delivery.visibilitySec` comes ' +
  'again, with the same id and the same body. While `delivery.mode` of the app is `webhook`, this is a ' +
  '409 `delivery_by_webhook`; what was handed out before can still be acknowledged.';

/** Pull delivery to sessions. */
@Audience('agent')
@Controller('v1')
@ApiProblems(400, 404, 409, 503)
export class MessagesController {
  constructor(
    private readonly inbox: MessageInbox,
    private readonly acknowledgements: Acknowledgements,
  ) {}

  @Header('content-type', JSON_TYPE)
  @Get('sessions/:sessionId/messages')
  @ApiParam({ name: 'sessionId', type: String })
  @ApiOkResponse({ type: MessagesDto })
  @ApiOperation({
    operationId: 'pollSessionMessages',
    summary: 'Take the next message of a session, if there is one',
    description: HAND_OUT,
  })
  async pollSession(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Query() { wait }: WaitQuery,
    @CallerGone() receiverGone: AbortSignal,
  ): Promise<Buffer> {
    return this.poll({ appId, sessionId }, wait, receiverGone);
  }

  @Header('content-type', JSON_TYPE)
  @Get('messages')
  @ApiOkResponse({ type: MessagesDto })
  @ApiOperation({
    operationId: 'pollMessages',
    summary: 'Take the next messages of all sessions, at most one a session',
    description: HAND_OUT,
  })
  async pollApp(
    @CurrentApp() appId: string,
    @Query() { wait }: WaitQuery,
    @CallerGone() receiverGone: AbortSignal,
  ): Promise<Buffer> {
    return this.poll({ appId }, wait, receiverGone);
  }

  @Post('messages/:messageId/ack')
  @HttpCode(200)
  @ApiParam({ name: 'messageId', type: String })
  @ApiBody({ type: AcknowledgeMessageDto, required: false })
  @ApiOkResponse({ type: AcknowledgedMessageDto })
  @ApiProblems(413, 415)
  @ApiOperation({
    operationId: 'acknowledgeMessage',
    summary: 'Say that a message was received; may be repeated',
    description:
      'Only then the next message of the session is handed out. With `turnId` that turn begins in the ' +
      'same step, so that the next message waits for its end.',
  })
  async acknowledge(
    @CurrentApp() appId: string,
    @Param('messageId', new PublicIdPipe('msg')) messageId: string,
    @Body() body: AcknowledgeMessageDto,
  ): Promise<AcknowledgedMessageDto> {
    const message = await this.acknowledgements.acknowledge(appId, messageId, body.turnId);
    return AcknowledgedMessageDto.from(message);
  }

  /** The stored bodies go out as they are, byte by byte: reading and writing them again could change them. */
  private async poll(
    scope: DeliveryScope,
    waitSec: number,
    receiverGone: AbortSignal,
  ): Promise<Buffer> {
    const messages = await this.inbox.poll(scope, waitSec * 1_000, receiverGone);
    whenAborted(receiverGone, () => void this.inbox.giveBack(messages));
    return Buffer.from(`{"data":[${messages.map(({ body }) => body).join(',')}]}`);
  }
}

/** Also when it was aborted before anybody listened. */
function whenAborted(signal: AbortSignal, handler: () => void): void {
  if (signal.aborted) handler();
  else signal.addEventListener('abort', handler, { once: true });
}
