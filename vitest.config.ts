import { defineConfig } from "vitest/config"
import { tallyReporter } from "./scripts/tally.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "tools/*/test/**/*.test.ts"],
    // No test waits for a clock: a limit is for what hangs, and a busy machine is slow.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Vitest leaves one core free, which is half of a machine that has two.
    maxWorkers: "100%",
    setupFiles: ["test/_support/seed.ts"],
    typecheck: {
      enabled: true,
      checker: "tsc",
      include: ["test/types/**/*.test-d.ts"],
      tsconfig: "./test/types/tsconfig.json",
      spawnTimeout: 60_000
    },
    // Named, so that every environment prints the same closing lines.
    reporters: ["default", tallyReporter]
  }
})
