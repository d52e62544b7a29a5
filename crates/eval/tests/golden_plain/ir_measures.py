"""Makes ir_measures.json beside this file.

pip install ir_measures==0.4.3 pytrec_eval-terrier==0.5.11 cwl-eval==1.0.12

Usage: python ir_measures.py FOLDER_OF_THE_IR_MEASURES_TEST_FILES > ir_measures.json
"""

import json
import sys

sys.path.pop(0)  # this file has the library's name
import ir_measures  # noqa: E402

NAMES = """nDCG nDCG@5 nDCG@10 AP AP(rel=2) AP@10 AP(rel=2)@100 RR RR(rel=2) P@5 P@10 P(rel=2)@10 R@10 R@100
R(rel=2)@1000 Success@1 Success(rel=2)@5 Rprec Rprec(rel=2) Judged@10 Judged@1000 NumRet NumRel NumRelRet
IPrec@0 IPrec@0.1 IPrec(rel=2)@0.25 IPrec@0.5 IPrec@1 Bpref Bpref(rel=2) infAP infAP(rel=2) SetP SetP(rel=2) SetR
SetR(rel=2) SetF SetF(rel=2,beta=0.5) SetF(beta=2) SetAP SetAP(rel=2) RBP RBP(rel=2,p=0.5) RBP(p=0.95)""".split()


def parse(text):
    """A measure. The library refuses whole numbers for reals, and its RBP takes no default grade."""
    name = text.replace("beta=2)", "beta=2.0)")
    if text in ["IPrec@0", "IPrec@1"]:
        name += ".0"
    if text in ["RBP", "RBP(p=0.95)"]:
        return ir_measures.parse_measure(name)(rel=1)
    return ir_measures.parse_measure(name)


def values(measure, qrels, run):
    return {
        "mean": float(ir_measures.calc_aggregate([measure], qrels, run)[measure]),
        "per_query": {found.query_id: float(found.value) for found in ir_measures.iter_calc([measure], qrels, run)},
    }


files = {}
for name in ["compat", "cwl"]:
    qrels = list(ir_measures.read_trec_qrels(f"{sys.argv[1]}/{name}.qrels"))
    run = list(ir_measures.read_trec_run(f"{sys.argv[1]}/{name}.run"))
    files[name] = {text: values(parse(text), qrels, run) for text in NAMES}
versions = {"ir_measures": "0.4.3", "pytrec_eval-terrier": "0.5.11", "cwl-eval": "1.0.12"}
print(json.dumps({"made_with": versions, "files": files}, indent=1))
