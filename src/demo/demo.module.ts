import { Module } from '@nestjs/common';
import { UpstreamsModule } from '../upstreams/upstreams.module.js';
import { DemoRegistration } from './demo-registration.js';

/** Something to try the service with: an upstream with slow tools. */
@Module({ imports: [UpstreamsModule], providers: [DemoRegistration] })
export class DemoModule {}
