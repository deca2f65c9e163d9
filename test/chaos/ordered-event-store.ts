import type { EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

type Message = Parameters<EventStore['storeEvent']>[1];

/** Keeps events in the order in which they came; that of the SDK's examples loses some that come within one millisecond. */
export class OrderedEventStore implements EventStore {
  /** The latest event of each method. */
  readonly idOf = new Map<string, string>();
  private readonly streams = new Map<string, { id: string; message: Message }[]>();
  private readonly streamOf = new Map<string, string>();

  storeEvent(streamId: string, message: Message): Promise<string> {
    const id = String(this.streamOf.size + 1);
    this.streamOf.set(id, streamId);
    if ('method' in message) this.idOf.set(message.method, id);
    this.streams.set(streamId, [...(this.streams.get(streamId) ?? []), { id, message }]);
    return Promise.resolve(id);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: Message) => Promise<void> },
  ): Promise<string> {
    const streamId = this.streamOf.get(lastEventId);
    if (streamId === undefined) return '';
    for (const { id, message } of this.streams.get(streamId) ?? [])
      if (Number(id) > Number(lastEventId)) await send(id, message);
    return streamId;
  }
}
