import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { AppDirectory } from '../../apps/app.directory.js';
import { Audience } from '../../auth/http/audience.decorator.js';
import { InvalidRequestError } from '../../common/domain-error.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { toInstant } from '../../common/http/is-instant.decorator.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import { toPublicId } from '../../common/ids.js';
import { toPage } from '../../common/paging.js';
import { MessageDiscard } from '../administration/message-discard.js';
import { MessageReader } from '../administration/message-reader.js';
import { MessageRedelivery } from '../administration/message-redelivery.js';
import type { MessageSummary } from '../administration/message-summary.js';
import { MessageDetailsDto, MessagePageDto, MessageSummaryDto } from './message-details.dto.js';
import { MessageQuery } from './message.query.js';
import { RedeliverDto, RedeliveredDto } from './redelivery.dto.js';

const MessageId = (): ParameterDecorator => Param('messageId', new PublicIdPipe('msg'));

/** What administrators see of messages and do with them. */
@Audience('admin')
@Controller('admin/v1/messages')
export class AdminMessagesController {
  constructor(
    private readonly reader: MessageReader,
    private readonly redelivery: MessageRedelivery,
    private readonly discards: MessageDiscard,
    private readonly apps: AppDirectory,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'adminListMessages',
    summary: 'List the messages of all apps',
    description: 'Newest first. Dead letters: `?state=dead`.',
  })
  @ApiOkResponse({ type: MessagePageDto })
  @ApiProblems(400, 503)
  async list(@Query() query: MessageQuery): Promise<MessagePageDto> {
    const page = query.toPageRequest();
    const messages = await this.reader.list(query.toFilter(this.appIds(query.app)), page);
    return toPage(
      messages,
      page.limit,
      ({ id, createdAt }) => ({ id, createdAt: createdAt.toISOString() }),
      (message) => this.present(message),
    );
  }

  @Post('redeliver')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adminRedeliverDeadMessages',
    summary: 'Send dead letters again',
    description:
      'The oldest first. Each keeps its id and its body, has failed never and is as if it were new. May be ' +
      'repeated: what is pending already is no dead letter any more.',
  })
  @ApiOkResponse({ type: RedeliveredDto })
  @ApiProblems(400, 413, 415, 503)
  async redeliverDead(@Body() { since, app }: RedeliverDto): Promise<RedeliveredDto> {
    const appId = app === undefined ? undefined : this.appIds([app])[0];
    if (app !== undefined && appId === undefined)
      throw new InvalidRequestError([{ pointer: '/app', detail: 'is the name or id of no app' }]);
    return this.redelivery.redeliverDead({ since: toInstant(since), appId });
  }

  @Get(':messageId')
  @ApiOperation({
    operationId: 'adminGetMessage',
    summary: 'Get a message with its body and the tries of its webhook',
  })
  @ApiParam({ name: 'messageId', type: String })
  @ApiOkResponse({ type: MessageDetailsDto })
  @ApiProblems(400, 404, 503)
  async get(@MessageId() id: string): Promise<MessageDetailsDto> {
    const details = await this.reader.get(id);
    return MessageDetailsDto.fromDetails(details, this.nameOf(details.summary.appId));
  }

  @Post(':messageId/redeliver')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adminRedeliverMessage',
    summary: 'Send a message again',
    description:
      'A dead letter, or one that was delivered: it is pending again, with the same id and the same body, ' +
      'by which a receiver can tell that it has it already. While another message of its session or bot is ' +
      'out it is `heldBack`, and comes next after that. A pending message that waits for its next try is ' +
      'due at once; one that is out stays as it is. A discarded one is a 409 `message_discarded`.',
  })
  @ApiParam({ name: 'messageId', type: String })
  @ApiOkResponse({ type: MessageSummaryDto })
  @ApiProblems(400, 404, 409, 413, 415, 503)
  async redeliver(@MessageId() id: string): Promise<MessageSummaryDto> {
    return this.present(await this.redelivery.redeliver(id));
  }

  @Post(':messageId/discard')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adminDiscardMessage',
    summary: 'Give up a message, for good',
    description:
      'A pending message or a dead letter: nobody is told any more, the next message of its session or bot ' +
      'goes on, and the calls keep their results. A receiver may have it already. May be repeated. One that ' +
      'was delivered is a 409 `message_delivered`.',
  })
  @ApiParam({ name: 'messageId', type: String })
  @ApiOkResponse({ type: MessageSummaryDto })
  @ApiProblems(400, 404, 409, 413, 415, 503)
  async discard(@MessageId() id: string): Promise<MessageSummaryDto> {
    return this.present(await this.discards.discard(id));
  }

  private present(message: MessageSummary): MessageSummaryDto {
    return MessageSummaryDto.from(message, this.nameOf(message.appId));
  }

  private nameOf(appId: string): string {
    return this.apps.byId(appId)?.name ?? toPublicId('app', appId);
  }

  /** UUIDs of the apps that are named by name or id, or of all. */
  private appIds(named: string[] | undefined): string[] {
    return this.apps
      .all()
      .filter(
        ({ id, name }) =>
          named?.some((one) => one === name || one === toPublicId('app', id)) ?? true,
      )
      .map(({ id }) => id);
  }
}
