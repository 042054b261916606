import { startForRun } from './server-of-run';

export default startForRun('postgres');
