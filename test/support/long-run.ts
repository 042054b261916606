/** `npm run test:long` repeats what races and what is random as often as promised; `npm test` less often, to stay short. */
export function times(often: number, seldom: number): number {
  return process.env.LONG === '1' ? often : seldom;
}
