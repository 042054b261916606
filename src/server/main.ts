import './config/compile-cache';
import 'reflect-metadata';
import { serve } from './serve';

void serve().then((code) => process.exit(code));
