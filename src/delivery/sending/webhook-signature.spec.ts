import { describe, expect, it } from '@jest/globals';
import { webhookSignature } from './webhook-signature.js';

describe('a signature', () => {
  it('is the one of the specification', () => {
    const parts = {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
    };
    expect(webhookSignature(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], parts)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    );
  });

  it('is one for each secret', () => {
    const parts = { id: 'a', timestamp: 1, body: '{}' };
    const [one, other] = ['whsec_YQ==', 'whsec_Yg=='];
    const both = webhookSignature([one, other], parts);
    expect(both).toBe(`${webhookSignature([one], parts)} ${webhookSignature([other], parts)}`);
  });
});
