import { render } from 'preact';
import { App } from './app.js';
import { language } from './words.js';

document.documentElement.lang = language;
render(<App />, document.getElementById('app') ?? document.body);
