import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  // Examples are projects of their own: a test installs the packed package in them and compiles them.
  { ignores: ['dist', 'data', 'coverage', 'node_modules', 'examples', '**/*.generated.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreVoidOperator: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/naming-convention': [
        'error',
        { selector: 'interface', format: ['PascalCase'], custom: { regex: '^I[A-Z]', match: false } },
      ],
    },
  },
  {
    // Own files and packages that are loaded only where a setting asks for them.
    files: ['src/**/*.ts'],
    rules: {
      '@typescript-eslint/no-require-imports': [
        'error',
        { allow: ['^\\.\\.?/', '^(@photostructure/sqlite|ioredis|jose|js-yaml|pino-pretty)$'] },
      ],
    },
  },
  {
    // Handlers of events give nothing back.
    files: ['src/console/*.{ts,tsx}'],
    rules: { '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }] },
  },
  {
    // Decorated parameters need the class at run time, which the rule cannot see.
    files: ['src/**/*.controller.ts'],
    rules: { '@typescript-eslint/consistent-type-imports': 'off' },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/**/*.spec.ts'],
    rules: { 'no-console': 'error' },
  },
  {
    files: ['test/**/*.ts', 'src/**/*.spec.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.js', '**/*.cjs', '**/*.mjs'],
    languageOptions: {
      globals: {
        module: 'writable',
        exports: 'writable',
        require: 'readonly',
        process: 'readonly',
        console: 'readonly',
        __dirname: 'readonly',
        fetch: 'readonly',
        URL: 'readonly',
      },
    },
  },
);
