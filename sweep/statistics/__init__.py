"""Statistics of many points, kept in a form of fixed size that can be merged in any order.

The bits do not depend on how the points are divided: sums follow one binary tree over the index of
a point (`tree.py`), everything else is a count, a minimum or a maximum. Code added here must
restrict itself to + − × ÷ √ on values.
"""
