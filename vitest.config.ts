import { configDefaults, defineConfig } from "vitest/config"
import { tallyReporter } from "./scripts/tally.ts"

const tests = ["test/**/*.test.ts", "tools/*/test/**/*.test.ts", "packages/examples/recipes/vitest/*.test.ts"]
const processes = ["test/**/*.process.test.ts", "tools/*/test/**/*.process.test.ts"]

/** What measures time: one after the other, when all others have ended. */
const timed = "test/repository/start.process.test.ts"

const settings = {
  // No test waits for a clock: a limit is for what hangs, and a busy machine is slow.
  testTimeout: 30_000,
  hookTimeout: 30_000,
  setupFiles: ["test/_support/seed.ts"],
  // The bin leaves nothing in the folder of the machine where Node keeps what it has compiled.
  env: { NODE_DISABLE_COMPILE_CACHE: "1" }
}

export default defineConfig({
  test: {
    // Vitest leaves one core free, which is half of a machine that has two.
    maxWorkers: "100%",
    // Named, so that every environment prints the same closing lines.
    reporters: ["default", tallyReporter],
    // Only a test that fails shows what it logs; `--silent=false` shows all.
    silent: "passed-only",
    projects: [
      // What is computed within one process: a worker loads each module once, for all of its files.
      {
        test: {
          ...settings,
          name: "pure",
          include: tests,
          exclude: [...processes, ...configDefaults.exclude],
          isolate: false
        }
      },
      // What starts processes or needs installations of its own.
      { test: { ...settings, name: "processes", include: processes, exclude: [timed, ...configDefaults.exclude] } },
      { test: { ...settings, name: "timed", include: [timed], sequence: { groupOrder: 1 } } },
      {
        test: {
          name: "types",
          include: [],
          typecheck: {
            enabled: true,
            checker: "tsc",
            include: ["test/types/**/*.test-d.ts"],
            tsconfig: "./test/types/tsconfig.json",
            spawnTimeout: 60_000
          }
        }
      }
    ]
  }
})
