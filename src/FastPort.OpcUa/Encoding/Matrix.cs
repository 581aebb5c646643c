namespace FastPort.OpcUa.Encoding;

/// <summary>An array with two or more dimensions: its elements row by row.</summary>
internal sealed class Matrix(Array elements, int[] dimensions)
{
    public Array Elements { get; } = elements;

    public int[] Dimensions { get; } = dimensions;

    /// <summary>
    /// Whether there are two or more dimensions, none of them negative, whose product is the number of elements. An empty matrix has a
    /// dimension of length 0; that is how other stacks send it.
    /// </summary>
    public static bool Fits(int elements, ReadOnlySpan<int> dimensions)
    {
        if (dimensions.Length < 2)
        {
            return false;
        }

        // No overflow: elements is the bound of each step.
        long product = dimensions.Contains(0) ? 0 : 1;
        foreach (int dimension in dimensions)
        {
            product *= dimension;
            if (dimension < 0 || product > elements)
            {
                return false;
            }
        }

        return product == elements;
    }
}
