/** Modules that are weighed: each takes a part of the library, and nothing else. */
export const programs = {
  "a table for an effect":
    'import * as Recovery from "@kintsugi/core/Recovery"; export const guarded = Recovery.onError({ Busy: Recovery.retry({ retries: 3 }), orElse: Recovery.rethrow })',
  "all of Recovery": 'import * as Recovery from "@kintsugi/core/Recovery"; export { Recovery }',
  "all of the core": 'import * as Kintsugi from "@kintsugi/core"; export { Kintsugi }'
} as const
