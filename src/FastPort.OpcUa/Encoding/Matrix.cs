namespace FastPort.OpcUa.Encoding;

/// <summary>An array with two or more dimensions: its elements row by row.</summary>
internal sealed class Matrix(Array elements, int[] dimensions)
{
    public Array Elements { get; } = elements;

    public int[] Dimensions { get; } = dimensions;

    /// <summary>Whether there are two or more dimensions, all positive, whose product is the number of elements.</summary>
    public static bool Fits(int elements, ReadOnlySpan<int> dimensions)
    {
        if (dimensions.Length < 2)
        {
            return false;
        }

        long product = 1;
        foreach (int dimension in dimensions)
        {
            product *= dimension;
            if (dimension <= 0 || product > elements)
            {
                return false;
            }
        }

        return product == elements;
    }
}
