import { defineConfig } from "vitest/config"

// Alone: its tests need a database, whose folder `npm run test:durable` tells.
export default defineConfig({ test: { include: ["tools/durable-lab/test/scenarios.ts"], testTimeout: 60_000 } })
