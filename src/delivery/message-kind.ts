/** What a message tells of; one message is of one kind. */
export const MESSAGE_KINDS = ['background_call.result', 'background_call.input_required'] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];
