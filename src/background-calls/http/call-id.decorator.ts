import { Param } from '@nestjs/common';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';

/** The UUID of the call that the path names. */
export const CallId = (): ParameterDecorator => Param('callId', new PublicIdPipe('bgc'));
