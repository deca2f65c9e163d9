import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { StreamReference } from '../../upstream-session.js';
import { LatestAtIntervals } from '../latest-at-intervals.js';
import { ResumePoint } from './resume-point.js';

/** At most so often it is told how far the stream has come. */
const TELL_MS = 500;

/** Where the stream of a request can be gone on with. */
export type StreamPlace = Pick<StreamReference, 'requestId' | 'lastEventId'>;

/**
 * How far the stream of a call has come: followed here, and told so that another process could go on with it.
 * Nothing is told before the request of the call has an id, and nothing after `end`.
 */
export class StreamPosition {
  private requestId: number | undefined;
  private hasIds = false;
  private isOver = false;
  private readonly point: ResumePoint;
  private readonly places: LatestAtIntervals<StreamPlace>;

  /** `resumptionToken`: the event after which the stream is gone on with here. */
  constructor(resumptionToken: string | undefined, onPlace: (place: StreamPlace) => void) {
    this.point = new ResumePoint(resumptionToken);
    this.places = new LatestAtIntervals(TELL_MS, onPlace);
  }

  /** The stream carries event ids, so that the SDK can go on with it on a new connection. */
  get isResumable(): boolean {
    return this.hasIds;
  }

  /** Of the requests that are sent for a call the first one is the call. */
  sent(requestId: unknown): void {
    if (typeof requestId === 'number') this.requestId ??= requestId;
  }

  /** An event with an id, before its message. */
  cameTo(eventId: string): void {
    this.hasIds = true;
    this.point.cameTo(eventId);
    // The SDK tells the message of the event next, in the same breath.
    void Promise.resolve().then(() => this.tell());
  }

  received(message: JSONRPCMessage): void {
    this.point.received(message);
  }

  /** A request of the upstream, which need not be asked again. */
  answered(requestId: RequestId): void {
    this.point.answered(requestId);
    this.tell();
  }

  /** Whether this request of the upstream waits for what the user answers. */
  isQuestion(requestId: RequestId): boolean {
    return this.point.isQuestion(requestId);
  }

  /** The call is over, or goes on elsewhere. */
  end(): void {
    this.isOver = true;
    this.places.end();
  }

  private tell(): void {
    const { requestId } = this;
    const { eventId: lastEventId } = this.point;
    if (this.isOver || requestId === undefined || lastEventId === undefined) return;
    this.places.tell({ requestId, lastEventId });
  }
}
