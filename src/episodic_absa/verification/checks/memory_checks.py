"""Checks of a cell's memory: shown only where allowed, read only from the past, free of text and labels."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from episodic_absa.errors import LeakageError
from episodic_absa.language import effective_language, find_aspect_term, find_polarity_word
from episodic_absa.memory import load_catalogue
from episodic_absa.memory.episodes.leak_guard import (
    TextRuns,
    is_id,
    refuse_forbidden_keys,
    refuse_open_terms,
    refuse_open_vocabulary,
    refuse_text_runs,
)
from episodic_absa.runs.config.recorded_experiment import recorded_experiment
from episodic_absa.runs.reading.cell_files import CellFiles
from episodic_absa.runs.samples_file import SAMPLES
from episodic_absa.schemas.advisory_v1_2 import AdvisoryBundleV1_2
from episodic_absa.schemas.run_files.trace_line import TraceLine
from episodic_absa.schemas.stored.memory_v1_3 import EpisodicMemoryEntryV1_3, VerdictV1_3
from episodic_absa.store.uids import stored_uid
from episodic_absa.verification.checks.file_checks import require_store
from episodic_absa.verification.checks.findings import Check, Findings, NotApplicableError


def check_retrieval_calls(cell: CellFiles) -> Findings:
    """A condition that retrieves does so once per sample; any other condition never does."""
    manifest = cell.known_manifest
    pipeline = recorded_experiment(manifest).pipeline.under(manifest.condition)
    meant = int(manifest.condition.retrieval_execute and pipeline.enable_debate)
    for trace in cell.traces:
        calls, ids = trace.memory.retrieval_calls, trace.memory.retrieved_ids
        executed = trace.case_trace.memory_bundle.meta.retrieval_executed
        is_failure = trace.error is not None
        # An adaptive pipeline reads only for samples that it looks at again.
        allowed = (0, meant) if is_failure or pipeline.effort == "adaptive" else (meant,)
        holds = calls in allowed and (calls or not ids) and trace.memory.retrieved_k == len(ids)
        holds = holds and (is_failure or executed == bool(calls))
        yield None if holds else f"{_uid(trace)}: retrieval_calls is {calls} with {len(ids)} ids; {meant} is due"


def check_no_store_unless_used(cell: CellFiles) -> Findings:
    """A condition that neither reads nor writes memory leaves no store behind."""
    if cell.known_manifest.needs_store:
        raise NotApplicableError("the condition reads or writes a store")
    stores = sorted(path.name for path in cell.path.glob("*store*.jsonl*"))
    yield None if not stores else f"{stores[0]} exists although the condition uses no store"
    is_recorded = cell.samples.header is not None and cell.samples.header.store is not None
    yield f"{SAMPLES} speaks of a store" if is_recorded else None


def check_hidden_memory(cell: CellFiles) -> Findings:
    """Memory that is masked or not exposed occurs in no prompt."""
    condition = cell.known_manifest.condition
    hidden = {"stage1"}
    if condition.injection_mask or not condition.exposed_to_debate:
        hidden.add("debate")
    if condition.injection_mask or not condition.exposed_to_stage2:
        hidden.add("stage2")
    for trace in cell.traces:
        memory = trace.memory
        yield from (
            f"{_uid(trace)}: the prompt of {call.agent} held the memory slot"
            for call in trace.calls
            if call.stage in hidden and call.memory_slot_present
        )
        recorded = []
        if "debate" in hidden and (memory.prompt_injection_chars or memory.memory_debate_slot_present_for):
            recorded.append("debate")
        if "stage2" in hidden and (memory.stage2_memory_prompt_injection_chars or memory.stage2_memory_injected):
            recorded.append("stage2")
        yield f"{_uid(trace)}: memory is recorded as shown in {', '.join(recorded)}" if recorded else None


def check_injections(cell: CellFiles) -> Findings:
    """Injected memory was exposed, passed a gate and fits the cap; only the chosen calls saw it."""
    manifest = cell.known_manifest
    pipeline = recorded_experiment(manifest).pipeline
    cap, visible = pipeline.memory_prompt_injection_chars_cap, set(pipeline.debate.memory_visible_to)
    for trace in cell.traces:
        memory = trace.memory
        debate_n, stage2_n = memory.prompt_injection_chars, memory.stage2_memory_prompt_injection_chars
        if debate_n or memory.memory_debate_slot_present_for:
            yield from _injection_findings(
                f"{_uid(trace)}, debate",
                debate_n,
                cap,
                exposed=memory.exposed_to_debate and manifest.condition.exposed_to_debate,
                reason=memory.injection_trigger_reason,
            )
            unseen = set(memory.memory_debate_slot_present_for) - visible
            yield f"{_uid(trace)}: {', '.join(sorted(unseen))} saw the slot and may not" if unseen else None
        if stage2_n or memory.stage2_memory_injected:
            yield from _injection_findings(
                f"{_uid(trace)}, stage2",
                stage2_n,
                cap,
                exposed=memory.exposed_to_stage2 and manifest.condition.exposed_to_stage2,
                reason=memory.stage2_memory_gate_reason,
            )


def check_slot_record(cell: CellFiles) -> Findings:
    """The record of which calls saw memory agrees with their prompts."""
    for trace in cell.traces:
        if trace.error is not None:
            continue
        memory = trace.memory
        saw = {(call.stage, call.agent) for call in trace.calls if call.memory_slot_present}
        in_debate = any(stage == "debate" for stage, _ in saw)
        in_stage2 = any(stage == "stage2" for stage, _ in saw)
        same = in_debate == bool(memory.prompt_injection_chars) and memory.stage2_memory_injected == in_stage2
        same = same and in_stage2 == bool(memory.stage2_memory_prompt_injection_chars)
        yield None if same else f"{_uid(trace)}: the record of who saw memory is not what the prompts held"


def check_messages(cell: CellFiles) -> Findings:
    """Every message and warning passes the label firewall."""
    for trace in cell.traces:
        bundle, stage1 = trace.case_trace.memory_bundle, trace.case_trace.stage1_output
        terms = [item.aspect_term for item in stage1.ate.aspects] if stage1 else []
        terms += [item.aspect_term for item in stage1.atsa.sentiments] if stage1 else []
        for wording in (*(advisory.message for advisory in bundle.retrieved), *bundle.warnings):
            if find_polarity_word(wording) is not None:
                yield f"{_uid(trace)}: an advisory or warning names a label"
            else:
                yield (
                    None
                    if find_aspect_term(wording, terms) is None
                    else (f"{_uid(trace)}: an advisory or warning names an aspect of the sample")
                )


def check_bundle_matches_flags(cell: CellFiles) -> Findings:
    """The bundle's metadata follow from the condition's flags."""
    manifest = cell.known_manifest
    condition = manifest.condition
    topk = condition.advice.topk or recorded_experiment(manifest).episodic_memory.topk
    topk = topk if condition.retrieval_execute else 0
    meant = (condition.memory_mode == "on" and not condition.injection_mask, condition.memory_mode, topk)
    for trace in cell.traces:
        bundle = trace.case_trace.memory_bundle
        recorded = (bundle.memory_on, bundle.meta.memory_mode, bundle.meta.topk)
        holds = recorded == meant and bundle.meta.masked_injection == condition.injection_mask
        holds = holds and not (condition.injection_mask and (bundle.retrieved or bundle.warnings))
        holds = holds and (bundle.schema_version == "1.1") == (condition.rules == "seed")
        sources = {episode_id for advisory in bundle.retrieved for episode_id in advisory.evidence.source_episode_ids}
        # A placebo names the episodes that it stands in for.
        own = trace.memory.advice_from in ("retrieved", "placebo")
        holds = holds and sources <= set(trace.memory.retrieved_ids if own else trace.memory.advised_ids)
        yield None if holds else f"{_uid(trace)}: the bundle contradicts the condition's flags or what was retrieved"


def check_one_voice(cell: CellFiles) -> Findings:
    """Under rules v3 a bundle has one advisory per principle, and no advice to hold beside advice to change."""
    if not cell.known_manifest.condition.decides_changes:
        raise NotApplicableError("seed rules allow several advisories of a principle")
    catalogue = load_catalogue()
    for trace in cell.traces:
        bundle = trace.case_trace.memory_bundle
        if not isinstance(bundle, AdvisoryBundleV1_2):
            continue
        retrieved = [advisory.evidence.principle_id for advisory in bundle.retrieved]
        known = [principle for principle in map(catalogue.get, retrieved) if principle is not None]
        # A placebo has one principle for all its texts, which is none of the catalogue.
        holds = len({principle.principle_id for principle in known}) == len(known)
        holds = holds and len({principle.expects for principle in known}) < 2
        yield None if holds else f"{_uid(trace)}: the bundle repeats a principle or contradicts itself"


def check_store_lines(cell: CellFiles) -> Findings:
    """Every line of the store is a valid episode, verdict or tombstone in the closed vocabulary."""
    require_store(cell)
    catalogue = load_catalogue()
    yield from cell.store.problems
    for line in cell.store.valid():
        if isinstance(line, VerdictV1_3):
            terms = () if line.aspect is None else (line.aspect,)
            yield _leak(f"verdict on {line.source_id}", partial(refuse_open_terms, "aspect", terms))
        elif isinstance(line, EpisodicMemoryEntryV1_3):
            yield _leak(line.episode_id, partial(refuse_open_vocabulary, line, catalogue))


def check_store_ids(cell: CellFiles) -> Findings:
    """Episode ids are unique and ascend."""
    require_store(cell)
    last = 0
    for entry in cell.store.episodes:
        number = int(entry.episode_id[4:])
        yield None if number > last else f"{entry.episode_id} does not come after epi_{last:06d}"
        last = max(last, number)


def check_store_keys(cell: CellFiles) -> Findings:
    """No line holds a forbidden key at any depth."""
    require_store(cell)
    for number, value in enumerate(cell.store.objects, start=1):
        yield _leak(f"store, line {number}", partial(refuse_forbidden_keys, value))


def check_store_text(cell: CellFiles) -> Findings:
    """No episode repeats a run of its own sample's text, aspect terms apart."""
    require_store(cell)
    texts = {stored_uid(uid): text for uid, text in cell.texts.items()}
    for entry in cell.store.episodes:
        text = texts.get(entry.provenance.source_id)
        if text is not None:
            for language in {entry.input_signature.language, effective_language(None, text)}:
                yield _leak(
                    entry.episode_id,
                    partial(refuse_text_runs, entry, text, language),
                )


def check_start_store(cell: CellFiles) -> Findings:
    """The store begins with exactly the store that the manifest names by its hash."""
    require_store(cell)
    meant = cell.known_manifest.start_store_sha256
    if meant is None:
        raise NotApplicableError("the cell began without a start store")
    start = cell.samples.header.store if cell.samples.header else None
    is_same = start is not None and start.source_sha256 == meant and cell.begins_as_recorded
    yield None if is_same else f"the store's first {len(cell.beginning)} episodes are not those of the start store"


def check_stored_episodes(cell: CellFiles) -> Findings:
    """Only a condition that writes stores episodes, each of its own sample, and the reason says the same."""
    for record in cell.records:
        if record.analysis is None:
            continue
        kept, manifest = record.analysis.kept, cell.known_manifest
        is_stored = kept.episode is not None
        holds = is_stored == (kept.store_decision == "stored") and (manifest.condition.store_write or not is_stored)
        if kept.episode is not None:
            provenance = kept.episode.provenance
            holds = holds and (
                provenance.source_id,
                provenance.sample_index,
                provenance.seed,
                provenance.used_in_eval,
                provenance.created_from_split,
            ) == (
                stored_uid(record.uid),
                record.sample_index,
                manifest.seed,
                not manifest.is_build,
                manifest.dataset.processing_split,
            )
        yield None if holds else f"{record.uid}: its episode is of another sample, or stands against its decision"


def check_retrieved_is_past(cell: CellFiles) -> Findings:
    """Every retrieved episode was in the store before the sample's own commit."""
    require_store(cell)
    keep = _keep_last_n(cell)
    ids = [episode.episode_id for episode in cell.all_episodes]
    for entry in cell.records:
        trace = cell.traces_by_uid.get(entry.uid)
        if trace is not None:
            known = set(ids[: cell.episodes_before[entry.uid]][-keep:])
            unknown = [episode_id for episode_id in trace.memory.retrieved_ids if episode_id not in known]
            yield f"{entry.uid}: retrieved {unknown[0]}, which no earlier sample had stored" if unknown else None


def check_no_self_retrieval(cell: CellFiles) -> Findings:
    """No sample retrieved its own episode."""
    require_store(cell)
    sources = {entry.episode_id: entry.provenance.source_id for entry in cell.all_episodes}
    for trace in cell.traces:
        own = [
            episode_id
            for episode_id in trace.memory.retrieved_ids
            if sources.get(episode_id) == stored_uid(_uid(trace))
        ]
        yield f"{_uid(trace)}: retrieved its own {own[0]}" if own else None


def check_private_text(cell: CellFiles) -> Findings:
    """No run of review text occurs in the manifest, in a bundle or in a memory record.

    Names of fields, the configuration and the catalogue are fixed before a review is read; one that names the memory's
    slot, for example, is not copied.
    """
    manifest = list(_strings(cell.manifest_object))
    fixed = [*_keys(cell.manifest_object), *_strings(cell.known_manifest.cfg_canonical)]
    fixed += _strings([principle.model_dump(mode="json") for principle in load_catalogue().entries])
    for trace in cell.traces:
        records = [trace.case_trace.memory_bundle.model_dump(mode="json"), trace.memory.model_dump(mode="json")]
        own_id = [_uid(trace)] if is_id(_uid(trace), trace.text) else []
        language = effective_language(None, trace.text)
        runs = TextRuns(trace.text, language)
        for where, strings in (("manifest", manifest), ("bundle or memory record", list(_strings(records)))):
            repeated = [string for string in strings if runs.stand_in(string)]
            if repeated:
                own = TextRuns(trace.text, language, apart_from=[*fixed, *own_id, *_keys(records)])
                repeated = [string for string in repeated if own.stand_in(string)]
            yield f"{_uid(trace)}: the {where} repeats its text" if repeated else None


MEMORY_CHECKS: Final[Mapping[str, Check]] = {
    "retrieval_calls": check_retrieval_calls,
    "no_store_unless_used": check_no_store_unless_used,
    "hidden_memory": check_hidden_memory,
    "injections": check_injections,
    "slot_record": check_slot_record,
    "messages": check_messages,
    "bundle_matches_flags": check_bundle_matches_flags,
    "one_voice": check_one_voice,
    "store_lines": check_store_lines,
    "store_ids": check_store_ids,
    "store_keys": check_store_keys,
    "store_text": check_store_text,
    "start_store": check_start_store,
    "stored_episodes": check_stored_episodes,
    "retrieved_is_past": check_retrieved_is_past,
    "no_self_retrieval": check_no_self_retrieval,
    "private_text": check_private_text,
}


def _uid(trace: TraceLine) -> str:
    return trace.case_trace.case_id


def _injection_findings(where: str, chars: int, cap: int | None, *, exposed: bool, reason: str | None) -> Findings:
    yield None if chars > 0 else f"{where}: memory is recorded as shown with no character of it"
    yield None if exposed else f"{where}: memory was shown though the condition does not expose it"
    yield None if reason is not None else f"{where}: memory was shown without a gate's reason"
    yield None if cap is None or chars <= cap else f"{where}: {chars} characters were shown; the cap is {cap}"


def _leak(name: str, refuse: Callable[[], None]) -> str | None:
    try:
        refuse()
    except LeakageError as error:
        return f"{name}: {error.field} may not stand in a store"
    return None


def _keep_last_n(cell: CellFiles) -> int:
    return recorded_experiment(cell.known_manifest).episodic_memory.keep_last_n


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from _keys(item)
