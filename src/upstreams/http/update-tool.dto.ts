import { ApiSchema } from '@nestjs/swagger';
import { CALL_MODES, type CallMode } from '../../common/call-mode.js';
import { Choice } from '../../common/http/value.decorators.js';

/** What an administrator says about a tool. */
@ApiSchema({ name: 'ToolPatch' })
export class UpdateToolDto {
  @Choice(
    CALL_MODES,
    'CallMode',
    '`auto`: moves to the background when it takes long. `always`: at once. `never`: not at all.',
  )
  background!: CallMode;
}
