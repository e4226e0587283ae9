"""A batch on a Ray cluster: one reader, workers that load the engine once, outcomes in the order of the rows."""

from episodic_absa.batch.cluster.cluster_batch import analyse_on_cluster, texts_to_analyse
from episodic_absa.batch.cluster.cluster_plan import ClusterJob, ClusterPlan, sum_of
from episodic_absa.batch.cluster.cluster_worker import ClusterWorker, Trouble

__all__ = [
    "ClusterJob",
    "ClusterPlan",
    "ClusterWorker",
    "Trouble",
    "analyse_on_cluster",
    "sum_of",
    "texts_to_analyse",
]
