import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestService } from './support/service.js';

const PATH = '/v1/agent-instructions';

describe('the paragraph for the system prompt', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });

  afterAll(async () => {
    await service.stop();
  });

  it('comes in the language that is asked for, and names the headings that messages begin with', async () => {
    const chinese = await service.agent.get(`${PATH}?locale=zh-CN`);
    expect(chinese).toMatchObject({ status: 200, body: { locale: 'zh-CN' } });
    for (const heading of ['【后台调用完成】', '【后台调用失败】', '【后台调用已取消】'])
      expect(chinese.body.text).toContain(heading);
    const english = await service.agent.get(`${PATH}?locale=en`);
    for (const ending of ['completed', 'failed', 'cancelled'])
      expect(english.body.text).toContain(`[Background call ${ending}]`);
  });

  it('comes in the language of the settings when none is asked for', async () => {
    expect((await service.agent.get(PATH)).body.locale).toBe('zh-CN');
    await service.settings({ messages: { locale: 'en' } });
    expect((await service.agent.get(PATH)).body.locale).toBe('en');
  });

  it('is refused in a language that there is not', async () => {
    const answer = await service.agent.get(`${PATH}?locale=fr`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '?locale' }] } });
  });
});
