"""The leakage certificate: probes that try to read gold, identity and text out of advisories and stores."""
