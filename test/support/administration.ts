import type { Api } from './api.js';

/** Registers an MCP server under a name; answers its id. */
export async function registerServer(admin: Api, name: string, url: string): Promise<string> {
  const answer = await admin.post('/admin/v1/mcp-servers', { name, title: name, url });
  if (answer.status !== 201) throw new Error(`not registered: ${answer.text}`);
  return answer.body.id as string;
}

export async function changeSettings(admin: Api, changes: object): Promise<void> {
  const answer = await admin.patch('/admin/v1/settings', changes);
  if (answer.status !== 200) throw new Error(`settings refused: ${answer.text}`);
}
