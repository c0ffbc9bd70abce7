import { defineConfig } from "vitest/config"
import { tallyReporter } from "./scripts/tally.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/seed.ts"],
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
