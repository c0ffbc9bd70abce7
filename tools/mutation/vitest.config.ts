import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { defineConfig } from "vitest/config"
import { root } from "../../scripts/files.ts"
import { cache } from "./src/protocol.ts"

export default defineConfig({
  root,
  plugins: [
    {
      name: "mutants",
      enforce: "pre",
      load: (id) => {
        const instrumented = join(cache, "instrumented", relative(root, id.split("?")[0] ?? id))
        return existsSync(instrumented) ? readFileSync(instrumented, "utf8") : undefined
      }
    }
  ],
  test: {
    include: ["tools/mutation/src/driver.ts"],
    setupFiles: ["test/_support/seed.ts", "tools/mutation/src/quick.ts"],
    runner: "./tools/mutation/src/runner.ts",
    pool: "forks",
    isolate: false,
    maxWorkers: 1,
    fileParallelism: false,
    // it knows modules by their sources, and would give those of an earlier run, whose mutants have other numbers
    fsModuleCache: false,
    silent: true,
    reporters: [{}],
    // The runner has limits of its own.
    testTimeout: 120_000,
    teardownTimeout: 500
  }
})
