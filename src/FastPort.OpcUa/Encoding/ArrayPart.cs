namespace FastPort.OpcUa.Encoding;

/// <summary>A block of an array with one or more dimensions, whose elements are stored row by row.</summary>
internal readonly struct ArrayPart
{
    private readonly int[] _arrayLengths;
    private readonly int[] _starts;

    private ArrayPart(int[] arrayLengths, int[] starts, int[] lengths)
    {
        _arrayLengths = arrayLengths;
        _starts = starts;
        Lengths = lengths;
        Length = 1;
        foreach (int length in lengths)
        {
            Length *= length;
        }
    }

    /// <summary>The block's length in each dimension; 1 or more.</summary>
    public int[] Lengths { get; }

    /// <summary>Number of elements.</summary>
    public int Length { get; }

    public int Rank => Lengths.Length;

    /// <summary>The block of an array that a range selects.</summary>
    /// <param name="arrayLengths">The array's length in each dimension.</param>
    /// <param name="bounds">The range in each dimension; further ones are ignored.</param>
    /// <param name="clip">Whether a range may end beyond the array: the block then ends with the array.</param>
    /// <param name="part">The block.</param>
    /// <returns>False if nothing is selected, or, without clipping, anything that does not exist.</returns>
    public static bool TryCreate(int[] arrayLengths, ReadOnlySpan<NumericRange.Bounds> bounds, bool clip, out ArrayPart part)
    {
        int[] starts = new int[arrayLengths.Length];
        int[] lengths = new int[arrayLengths.Length];
        part = default;
        for (int i = 0; i < arrayLengths.Length; i++)
        {
            if ((clip ? bounds[i].First : bounds[i].Last) >= arrayLengths[i])
            {
                return false;
            }

            starts[i] = (int)bounds[i].First;
            lengths[i] = (int)Math.Min(bounds[i].Count, arrayLengths[i] - starts[i]);
        }

        part = new ArrayPart(arrayLengths, starts, lengths);
        return true;
    }

    /// <summary>Whether elements fill the block: as many in each dimension.</summary>
    public bool HasShape(Array elements, ReadOnlySpan<int> dimensions) =>
        dimensions.IsEmpty ? Rank == 1 && elements.Length == Length : dimensions.SequenceEqual(Lengths);

    /// <summary>Copies the block out of the array.</summary>
    public void CopyFrom(Array array, Array block)
    {
        int run = Lengths[^1];
        for (int at = 0; at < Length; at += run)
        {
            Array.Copy(array, IndexOfRun(at / run), block, at, run);
        }
    }

    /// <summary>Copies the block into the array.</summary>
    public void CopyTo(Array block, Array array)
    {
        int run = Lengths[^1];
        for (int at = 0; at < Length; at += run)
        {
            Array.Copy(block, at, array, IndexOfRun(at / run), run);
        }
    }

    // The runs are the block's rows in the last dimension, which are contiguous in the array.
    private int IndexOfRun(int run)
    {
        int index = _starts[^1];
        int stride = _arrayLengths[^1];
        for (int i = Rank - 2; i >= 0; i--)
        {
            index += (_starts[i] + (run % Lengths[i])) * stride;
            run /= Lengths[i];
            stride *= _arrayLengths[i];
        }

        return index;
    }
}
