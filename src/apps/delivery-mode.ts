/** How an app gets its messages: it asks for them, or they are sent to its URL. */
export const DELIVERY_MODES = ['pull', 'webhook'] as const;
export type DeliveryMode = (typeof DELIVERY_MODES)[number];
