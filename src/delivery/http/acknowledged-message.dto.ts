import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { INSTANT_OR_NULL } from '../../common/http/instant.property.js';
import { toPublicId } from '../../common/ids.js';
import type { StoredMessage } from '../message.repository.js';
import { MESSAGE_STATES, type MessageState } from '../message-state.js';

/** A message after its acknowledgement, without its body. */
@ApiSchema({ name: 'AcknowledgedMessage' })
export class AcknowledgedMessageDto {
  @ApiProperty({ type: String })
  id!: string;

  @ApiProperty({
    enum: MESSAGE_STATES,
    enumName: 'MessageState',
  })
  state!: MessageState;

  @ApiProperty({ type: 'integer', description: 'How often the message was handed out' })
  attempts!: number;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When it was delivered' })
  deliveredAt!: string | null;

  static from({ id, state, attempts, deliveredAt }: StoredMessage): AcknowledgedMessageDto {
    return Object.assign(new AcknowledgedMessageDto(), {
      id: toPublicId('msg', id),
      state,
      attempts,
      deliveredAt: deliveredAt?.toISOString() ?? null,
    });
  }
}
