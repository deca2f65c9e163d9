import { Module } from '@nestjs/common';
import { Configuration } from '../config/environment.js';
import { OutboundHttp } from './outbound-http.js';
import { OutboundPolicy } from './outbound-policy.js';

/** Requests that leave this service. */
@Module({
  providers: [
    {
      provide: OutboundPolicy,
      inject: [Configuration],
      useFactory: (configuration: Configuration): OutboundPolicy =>
        new OutboundPolicy(configuration.outboundAllow),
    },
    OutboundHttp,
  ],
  exports: [OutboundHttp],
})
export class OutboundModule {}
