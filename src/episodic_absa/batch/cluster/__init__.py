"""A batch on a Ray cluster: one reader, workers that load the engine once, outcomes in the order of the rows."""

from episodic_absa.batch.cluster.cluster_batch import analyse_on_cluster
from episodic_absa.batch.cluster.cluster_plan import ClusterJob, ClusterPlan

__all__ = ["ClusterJob", "ClusterPlan", "analyse_on_cluster"]
