import type { Answer } from '../../src/server/testing';

/**
 * Sends again whatever a busy machine refused: a write that waited too long for its lock is answered with 503
 * and has done nothing, so that clients may send it again. For tests that make many writes to one tree at once.
 */
export async function resendWhenBusy(send: () => Promise<Answer>): Promise<Answer> {
  const answer = await send();
  return answer.status === 503 ? resendWhenBusy(send) : answer;
}
