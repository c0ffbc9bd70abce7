/** What an `HttpApi` in memory needs of a platform: nothing that these tests use. */
import { FileSystem, Layer, Path } from "effect"
import { Etag, HttpPlatform } from "effect/http"

export const platform = Layer.mergeAll(
  Layer.provide(HttpPlatform.layer, FileSystem.layerNoop({})),
  Etag.layerWeak,
  FileSystem.layerNoop({}),
  Path.layer
)
