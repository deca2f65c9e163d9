/** A point in time in the API: RFC 3339; what is shown is in UTC and has milliseconds. */
export const INSTANT = { type: String, format: 'date-time' } as const;
export const INSTANT_OR_NULL = { ...INSTANT, nullable: true } as const;
