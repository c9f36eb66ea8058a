#!/usr/bin/env python3
import json
import os

def read_journal(run_id):
    journal_path = f".delta/{run_id}/journal.jsonl"
    events = []
    with open(journal_path, 'r') as f:
        for line in f:
            events.append(json.loads(line))
    return events

def extract_key_facts(events):
    """Extract important decisions and results"""
    facts = []
    for event in events:
        if event['type'] == 'THOUGHT':
            # Extract key sentences
            facts.append(event['payload']['content'][:200])
    return facts

def main():
    run_id = os.environ.get('DELTA_RUN_ID')
    if not run_id:
        # Read LATEST file
        with open('.delta/LATEST', 'r') as f:
            run_id = f.read().strip()

    events = read_journal(run_id)
    facts = extract_key_facts(events)

    # Write summary
    os.makedirs('.delta/context_artifacts', exist_ok=True)
    with open('.delta/context_artifacts/summary.md', 'w') as f:
        f.write('# Compressed Memory\n\n')
        for i, fact in enumerate(facts, 1):
            f.write(f'{i}. {fact}\n')

if __name__ == '__main__':
    main()
