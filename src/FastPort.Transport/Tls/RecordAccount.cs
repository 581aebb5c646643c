namespace FastPort.Tls;

/// <summary>
/// Counts the bytes other than data in a peer's records: changes of keys, other messages of the handshake, empty records, padding (RFC
/// 8446, 5). They count in no rate, and OpenSSL keeps its answers to changes of keys until the next record is written. So a session may
/// bring few of them, however much data it brings: honest peers renew keys after 2^24 records or so.
/// <para>
/// Their types are encrypted. Only the records' lengths and the bytes of data in them are known, so the rest is counted: exactly for
/// records that are examined one at a time. Padding of data is allowed; because it can be measured only in a single record, the stream gets
/// one record at a time once much has been counted.
/// </para>
/// Not thread-safe.
/// </summary>
internal sealed class RecordAccount
{
    /// <summary>The maximum that a session may receive besides data, in bytes: a change of keys has five.</summary>
    public const int Most = 16 * 1024;

    private const int HeaderLength = 5;
    private const int AloneFrom = Most / 2;

    // Bytes of an encrypted record that are not content.
    private int _overhead;

    // Of the record being passed: bytes of its header, its length, and bytes that are still to come.
    private int _header;
    private int _length;
    private int _left;

    // Since the last Settle: records that have passed, their content, and bytes of data that they gave.
    private int _records;
    private int _content;
    private int _data;

    // Bytes besides data until then.
    private int _besides;

    /// <summary>How many bytes may pass now.</summary>
    public int Room => _besides < AloneFrom ? int.MaxValue : _left != 0 ? _left : HeaderLength - _header;

    /// <summary>The handshake is over: counts from now on.</summary>
    /// <param name="overhead">See <see cref="TlsProtocols.Overhead"/>.</param>
    public void Begin(int overhead)
    {
        _overhead = overhead;
        _records = 0;
        _content = 0;
    }

    /// <summary>Bytes from the peer pass to the decrypting stream.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="records">How many records may end in them, at least one; then how many more may.</param>
    /// <returns>How many bytes have passed: all, or those up to the end of the last record that may.</returns>
    public int Pass(ReadOnlySpan<byte> bytes, ref int records)
    {
        int all = bytes.Length;
        while (!bytes.IsEmpty && records != 0)
        {
            if (_left == 0)
            {
                _length = (ushort)((_length << 8) | bytes[0]);
                bytes = bytes[1..];
                if (++_header < HeaderLength)
                {
                    continue;
                }

                _left = _length;
            }

            int count = Math.Min(_left, bytes.Length);
            bytes = bytes[count..];
            _left -= count;
            if (_left == 0)
            {
                _header = 0;
                _records++;
                records--;
                _content += Math.Max(1, _length - _overhead);
            }
        }

        return all - bytes.Length;
    }

    /// <summary>The stream gave bytes of data.</summary>
    public void Decrypted(int count) => _data += count;

    /// <summary>The stream has decrypted all records that have passed, and their data was read: only then does it read more.</summary>
    /// <returns>Bytes besides data since <see cref="Begin"/>.</returns>
    public int Settle()
    {
        int more = Math.Max(0, _content - _data);
        if (_data != 0)
        {
            // May be padding: of one record surely no more, of several not counted further than to where records begin to come alone.
            more = _records > 1 ? Math.Min(more, Math.Max(0, AloneFrom - _besides)) : 0;
        }

        _besides += more;

        _records = 0;
        _content = 0;
        _data = 0;
        return _besides;
    }
}
