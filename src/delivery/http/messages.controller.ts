import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { EngineIdPipe } from '../../common/http/engine-id.pipe.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import { Acknowledgements } from '../acknowledgements.js';
import type { DeliveryScope } from '../delivery-scope.js';
import { MessageInbox } from '../message-inbox.js';
import { AcknowledgeBody, AcknowledgedMessageDto, MessagesDto, PollQuery } from './message.dto.js';
import { receiverGone, whenGone } from './receiver.js';

/** Pull delivery to sessions. */
@Audience('agent')
@Controller('v1')
@ApiProblems(400, 404, 503)
export class MessagesController {
  constructor(
    private readonly inbox: MessageInbox,
    private readonly acknowledgements: Acknowledgements,
  ) {}

  @Get('sessions/:sessionId/messages')
  @ApiParam({ name: 'sessionId', type: String })
  @ApiOkResponse({ type: MessagesDto })
  @ApiOperation({
    operationId: 'pollSessionMessages',
    summary: 'Take the next message of a session, if there is one',
  })
  async pollSession(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Query() query: PollQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    return this.poll({ appId, sessionId }, query, reply);
  }

  @Get('messages')
  @ApiOkResponse({ type: MessagesDto })
  @ApiOperation({
    operationId: 'pollMessages',
    summary: 'Take the next messages of all sessions, at most one a session',
  })
  async pollApp(
    @CurrentApp() appId: string,
    @Query() query: PollQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    return this.poll({ appId }, query, reply);
  }

  @Post('messages/:messageId/ack')
  @HttpCode(200)
  @ApiParam({ name: 'messageId', type: String })
  @ApiOkResponse({ type: AcknowledgedMessageDto })
  @ApiOperation({
    operationId: 'acknowledgeMessage',
    summary: 'Say that a message was received; may be repeated',
  })
  async acknowledge(
    @CurrentApp() appId: string,
    @Param('messageId', new PublicIdPipe('msg')) messageId: string,
    @Body() body: AcknowledgeBody,
  ): Promise<AcknowledgedMessageDto> {
    const message = await this.acknowledgements.acknowledge(appId, messageId, body.turnId);
    return AcknowledgedMessageDto.from(message);
  }

  /** The stored bodies go out as they are, byte by byte: reading and writing them again could change them. */
  private async poll(scope: DeliveryScope, query: PollQuery, reply: FastifyReply): Promise<Buffer> {
    const gone = receiverGone(reply);
    const messages = await this.inbox.poll(scope, query.wait * 1_000, gone);
    whenGone(gone, () => void this.inbox.giveBack(messages));
    reply.header('content-type', 'application/json; charset=utf-8');
    return Buffer.from(`{"data":[${messages.map(({ body }) => body).join(',')}]}`);
  }
}
