/**
 * Machine translation behind one interface. The fake engine for tests is exported separately, as
 * `@dragoman/engines/fake`, so that production code does not import it by accident.
 */

export type { ApertiumEngine, ApertiumOptions } from './apertium/apertium.ts';
export { createApertium, MAX_SEGMENT_LENGTH } from './apertium/apertium.ts';
export type { ApertiumFound } from './apertium/find.ts';
export { findApertium } from './apertium/find.ts';
export type { InstallOptions } from './apertium/install.ts';
export { APERTIUM_PACKAGES, installApertium } from './apertium/install.ts';
export type { Limits } from './apertium/limits.ts';
export { DEFAULT_PACKAGES, SCANDINAVIAN_PACKAGES } from './apertium/modes.ts';
export type { BergamotEngine, BergamotOptions } from './bergamot/bergamot.ts';
export { createBergamot } from './bergamot/bergamot.ts';
export type { Manifest } from './bergamot/models.ts';
export { findModels, ModelError, sealModel } from './bergamot/models.ts';
export type { PullOptions } from './bergamot/pull.ts';
export { listRemoteModels, mirrorModels, pullModel } from './bergamot/pull.ts';
export type { RemoteModel } from './bergamot/registry.ts';
export { chooseModel } from './bergamot/registry.ts';
export { MOZILLA } from './bergamot/source.ts';
export { faultOf } from './check.ts';
export type { Confidence } from './confidence.ts';
export { InstallError } from './debian.ts';
export type {
  Capabilities,
  Context,
  Direction,
  Draft,
  DraftRequest,
  Engine,
  FailureReason,
  Lane,
  Language,
  Piece,
  Segment,
  SelfTestObserver,
  Term,
} from './engine.ts';
export type { AzureOptions } from './remote/azure.ts';
export { createAzure } from './remote/azure.ts';
export type { DeepLOptions } from './remote/deepl.ts';
export { createDeepL } from './remote/deepl.ts';
export type { GoogleOptions, GoogleProjectOptions } from './remote/google.ts';
export { createGoogle, createGoogleProject } from './remote/google.ts';
export type { LibreTranslateOptions } from './remote/libretranslate.ts';
export { createLibreTranslate } from './remote/libretranslate.ts';
export type { LanguageModelOptions } from './remote/model.ts';
export { createLanguageModel } from './remote/model.ts';
export type { ProfileName } from './remote/profiles.ts';
export { PROFILE_NAMES, restrictionOf } from './remote/profiles.ts';
export type { RemoteOptions } from './remote/remote.ts';
