import { Module } from '@nestjs/common';
import { OutboundHttp } from './outbound-http.js';

/** Requests that leave this service. */
@Module({ providers: [OutboundHttp], exports: [OutboundHttp] })
export class OutboundModule {}
