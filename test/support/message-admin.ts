import type { Api, ApiResponse } from './api.js';

/** What an administrator does with messages. */
export class MessageAdmin {
  constructor(private readonly admin: Api) {}

  /** `query` without its `?`. */
  async list(query = ''): Promise<any[]> {
    const answer = await this.admin.get(`/admin/v1/messages?${query}`);
    if (answer.status !== 200) throw new Error(`no messages: ${answer.status} ${answer.text}`);
    return answer.body.data as unknown[];
  }

  async get(id: string): Promise<any> {
    const answer = await this.admin.get(`/admin/v1/messages/${id}`);
    if (answer.status !== 200) throw new Error(`no message: ${answer.status} ${answer.text}`);
    return answer.body;
  }

  redeliver(id: string): Promise<ApiResponse> {
    return this.admin.post(`/admin/v1/messages/${id}/redeliver`);
  }

  redeliverDead(body: unknown): Promise<ApiResponse> {
    return this.admin.post('/admin/v1/messages/redeliver', body);
  }

  discard(id: string): Promise<ApiResponse> {
    return this.admin.post(`/admin/v1/messages/${id}/discard`);
  }
}
