/** The error of an engine that cannot open its folder. */
import * as Schema from "effect/Schema"

const folderFields = {
  message: Schema.String,
  /** The folder as an absolute path. */
  folder: Schema.String,
  /** The id of the process that uses the folder. */
  pid: Schema.Int
}

/** Another process or layer has the folder of `Durable.layerPglite`. The folder is free when that process has ended. */
export class FolderInUseError extends Schema.TaggedError<FolderInUseError>()("FolderInUseError", folderFields) {
  readonly code = "KINTSUGI-DURABLE-FOLDER-IN-USE"
  readonly isRetryable = true
  static override make(
    fields: Omit<Schema.Struct.Type<typeof folderFields>, "message"> & { readonly message?: string }
  ): FolderInUseError {
    const what = `Folder '${fields.folder}' is in use by process ${fields.pid}`
    return new FolderInUseError({ message: `${what}. End that process, or take another folder`, ...fields })
  }
}
