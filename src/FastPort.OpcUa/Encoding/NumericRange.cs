using System.Globalization;

namespace FastPort.OpcUa.Encoding;

/// <summary>
/// Selects elements of an array, or a part of a text or byte string (OPC 10000-4, 7.27): <c>2</c>, <c>1:3</c>, or a range for each
/// dimension of a matrix, <c>0:1,2</c>. For an array of texts or byte strings one more range selects a part of each element. A text counts
/// in Unicode characters.
/// </summary>
internal readonly struct NumericRange
{
    // No value has more dimensions; more ranges are checked, but not kept, so a long text takes no memory.
    private const int MaxRanges = 64;

    private readonly Bounds[] _bounds;

    private NumericRange(Bounds[] bounds) => _bounds = bounds;

    /// <summary>Parses a range.</summary>
    /// <returns>False if the text is not a range: BadIndexRangeInvalid.</returns>
    public static bool TryParse(ReadOnlySpan<char> text, out NumericRange range)
    {
        int ranges = text.Count(',') + 1;
        var bounds = new Bounds[ranges <= MaxRanges ? ranges : 0];
        int count = 0;
        range = new NumericRange(bounds);
        foreach (Range part in text.Split(','))
        {
            ReadOnlySpan<char> dimension = text[part];
            int colon = dimension.IndexOf(':');
            uint last = 0;
            if (!TryParseIndex(colon < 0 ? dimension : dimension[..colon], out uint first)
                || (colon >= 0 && (!TryParseIndex(dimension[(colon + 1)..], out last) || last <= first)))
            {
                return false;
            }

            if (count < bounds.Length)
            {
                bounds[count++] = new Bounds(first, colon < 0 ? first : last);
            }
        }

        return true;
    }

    /// <summary>
    /// Whether a part of a value has to be searched for, which takes longer than copying the part: in a string from its beginning, in an
    /// array of strings or byte strings in each of them.
    /// </summary>
    public bool LooksInside(in Variant value) => value.Type is BuiltInType.String or BuiltInType.ByteString
        && (value.IsArray ? _bounds.Length > Math.Max(1, value.Dimensions.Length) : value.Type == BuiltInType.String);

    /// <summary>Selects the part of a value that exists.</summary>
    /// <returns>BadIndexRangeNoData if there is none.</returns>
    public StatusCode Select(in Variant value, out Variant part)
    {
        part = default;
        if (!value.IsArray)
        {
            if (_bounds.Length == 1)
            {
                part = value.Type switch
                {
                    BuiltInType.String => Select(value.Get<string?>(), _bounds[0]),
                    BuiltInType.ByteString => Select(value.Get<ByteString>(), _bounds[0]),
                    _ => default(Variant),
                };
            }

            return part.Reference is null ? StatusCodes.BadIndexRangeNoData : StatusCodes.Good;
        }

        if (value.Reference is not Array elements || !TryFit(value, elements, clip: true, out ArrayPart box, out Bounds? inner))
        {
            return StatusCodes.BadIndexRangeNoData;
        }

        Array selected = Array.CreateInstanceFromArrayType(elements.GetType(), box.Length);
        box.CopyFrom(elements, selected);
        if (inner is { } characters && !SelectInEach(selected, characters))
        {
            return StatusCodes.BadIndexRangeNoData;
        }

        part = Variant.OfArray(value.Type, selected, box.Rank == 1 ? null : box.Lengths);
        return StatusCodes.Good;
    }

    /// <summary>Creates a value in which the selected part is replaced.</summary>
    /// <param name="whole">The value, unchanged unless it may be changed in place.</param>
    /// <param name="part">The new part; has the type of <paramref name="whole"/>, and is an array if that is one.</param>
    /// <param name="result">The new value.</param>
    /// <param name="inPlace">Whether the elements of an array may be changed, because nothing else refers to it.</param>
    /// <returns>
    /// BadIndexRangeNoData if a selected element does not exist; BadIndexRangeDataMismatch if the part and the selection differ in size.
    /// </returns>
    public StatusCode Replace(in Variant whole, in Variant part, out Variant result, bool inPlace = false)
    {
        result = default;
        if (!whole.IsArray)
        {
            StatusCode status = StatusCodes.BadIndexRangeNoData;
            if (_bounds.Length == 1 && whole.Type == BuiltInType.String)
            {
                string? text = whole.Get<string?>();
                status = Replace(ref text, part.Get<string?>(), _bounds[0]);
                result = text;
            }
            else if (_bounds.Length == 1 && whole.Type == BuiltInType.ByteString)
            {
                ByteString bytes = whole.Get<ByteString>();
                status = Replace(ref bytes, part.Get<ByteString>(), _bounds[0]);
                result = bytes;
            }

            return status;
        }

        if (whole.Reference is not Array elements || !TryFit(whole, elements, clip: false, out ArrayPart box, out Bounds? inner))
        {
            return StatusCodes.BadIndexRangeNoData;
        }

        if (part.Reference is not Array source || !box.HasShape(source, part.Dimensions))
        {
            return StatusCodes.BadIndexRangeDataMismatch;
        }

        if (inner is { } characters)
        {
            Array merged = Array.CreateInstanceFromArrayType(elements.GetType(), box.Length);
            box.CopyFrom(elements, merged);
            if (ReplaceInEach(merged, source, characters) is { IsGood: false } refused)
            {
                return refused;
            }

            source = merged;
        }

        var copy = inPlace ? elements : (Array)elements.Clone();
        box.CopyTo(source, copy);
        result = Variant.OfArray(whole.Type, copy, whole.Dimensions.IsEmpty ? null : whole.Dimensions.ToArray());
        return StatusCodes.Good;
    }

    private static bool TryParseIndex(ReadOnlySpan<char> text, out uint index) =>
        uint.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out index);

    private bool TryFit(in Variant value, Array elements, bool clip, out ArrayPart box, out Bounds? inner)
    {
        int[] lengths = value.Dimensions.IsEmpty ? [elements.Length] : value.Dimensions.ToArray();
        bool within = _bounds.Length == lengths.Length + 1 && value.Type is BuiltInType.String or BuiltInType.ByteString;
        inner = _bounds.Length > lengths.Length ? _bounds[lengths.Length] : null;
        box = default;
        return (within || _bounds.Length == lengths.Length) && ArrayPart.TryCreate(lengths, _bounds, clip, out box);
    }

    // An element that has nothing there becomes null. False if all do.
    private static bool SelectInEach(Array elements, Bounds bounds)
    {
        bool any = false;
        if (elements is string?[] texts)
        {
            foreach (ref string? text in texts.AsSpan())
            {
                text = Select(text, bounds);
                any |= text is not null;
            }
        }
        else
        {
            foreach (ref ByteString bytes in ((ByteString[])elements).AsSpan())
            {
                bytes = Select(bytes, bounds);
                any |= !bytes.IsNull;
            }
        }

        return any;
    }

    private static StatusCode ReplaceInEach(Array elements, Array parts, Bounds bounds)
    {
        for (int i = 0; i < elements.Length; i++)
        {
            StatusCode status = elements is string?[] texts
                ? Replace(ref texts[i], ((string?[])parts)[i], bounds)
                : Replace(ref ((ByteString[])elements)[i], ((ByteString[])parts)[i], bounds);
            if (!status.IsGood)
            {
                return status;
            }
        }

        return StatusCodes.Good;
    }

    private static string? Select(string? text, Bounds bounds)
    {
        int start = text is null ? -1 : IndexOfCharacter(text, bounds.First);
        if (start < 0 || start == text!.Length)
        {
            return null;
        }

        int end = IndexOfCharacter(text, bounds.Last + 1L);
        return text[start..(end < 0 ? text.Length : end)];
    }

    private static ByteString Select(ByteString bytes, Bounds bounds) =>
        bounds.First >= bytes.Length
            ? default
            : bytes.Span[(int)bounds.First..(int)Math.Min(bytes.Length, bounds.Last + 1L)].ToArray();

    private static StatusCode Replace(ref string? text, string? part, Bounds bounds)
    {
        int end = text is null ? -1 : IndexOfCharacter(text, bounds.Last + 1L);
        if (end < 0)
        {
            return StatusCodes.BadIndexRangeNoData;
        }

        if (part is null || IndexOfCharacter(part, bounds.Count) != part.Length)
        {
            return StatusCodes.BadIndexRangeDataMismatch;
        }

        text = string.Concat(text.AsSpan(0, IndexOfCharacter(text!, bounds.First)), part, text.AsSpan(end));
        return StatusCodes.Good;
    }

    private static StatusCode Replace(ref ByteString bytes, ByteString part, Bounds bounds)
    {
        if (bounds.Last >= bytes.Length)
        {
            return StatusCodes.BadIndexRangeNoData;
        }

        if (part.Length != bounds.Count)
        {
            return StatusCodes.BadIndexRangeDataMismatch;
        }

        byte[] copy = bytes.ToArray()!;
        part.Span.CopyTo(copy.AsSpan((int)bounds.First));
        bytes = copy;
        return StatusCodes.Good;
    }

    // The start of a character, or the text's length for the position after the last; -1 if the text is shorter. A surrogate pair is one
    // character.
    private static int IndexOfCharacter(string text, long number)
    {
        if (number > text.Length)
        {
            return -1;
        }

        int index = text.AsSpan(0, (int)number).IndexOfAnyInRange('\uD800', '\uDFFF');
        if (index < 0)
        {
            return (int)number;
        }

        for (number -= index; number > 0; number--)
        {
            if (index == text.Length)
            {
                return -1;
            }

            index += char.IsSurrogatePair(text, index) ? 2 : 1;
        }

        return index;
    }

    /// <summary>The first and the last index of a range.</summary>
    internal readonly record struct Bounds(uint First, uint Last)
    {
        public long Count => (long)Last - First + 1;
    }
}
