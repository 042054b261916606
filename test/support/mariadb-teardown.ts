import { stopAfterRun } from './server-of-run';

export default stopAfterRun('mariadb');
