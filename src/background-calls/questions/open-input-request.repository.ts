/** What a call waits for, as a column of every statement that selects calls; other states cost no look-up. */
export const OPEN_INPUT_REQUEST = `
    CASE WHEN background_calls.status = 'input_required' THEN (
      SELECT json_build_object('sequence', input_requests.sequence,
        'message', input_requests.message, 'schema', input_requests.schema)
      FROM input_requests
      WHERE input_requests.call_id = background_calls.id AND input_requests.closed_at IS NULL
    ) END`;
