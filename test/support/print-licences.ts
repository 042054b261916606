import { licencesPage } from './licences';

process.stdout.write(licencesPage());
